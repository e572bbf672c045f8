"""Let `python -m mamba_edu.cli` run the commands."""

import sys

from mamba_edu.cli import main

sys.exit(main())
