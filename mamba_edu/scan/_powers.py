"""2^z and the sigmoid for numba: without a branch or a call, so that one instruction does many.

math.exp would be a call for every number, twelve times as slow.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload

# Sums may change their order, no more: what may think NaN away is left out.
LOOSE = {"fastmath": {"reassoc", "contract", "nsz"}, "error_model": "numpy", "nogil": True}

# 2^f = 1 + S[0] f + S[1] f^2 + ..., interpolated at Chebyshev's points of abs(f) <= 1/2: within
# 5e-9 of the value in single and 1e-19 in double precision, which leaves the rounding.
S = (0.693147188026, 0.240226507606, 0.0555035711422, 9.61808255728e-3, 1.33908633647e-3)
S = tuple(np.float32(c) for c in (*S, 1.54531629451e-4, 1.0))
D = (0.693147180559945309, 0.240226506959100712, 0.055504108664821627, 9.61812910762847949e-3)
D += (1.33335581464064707e-3, 1.54035303933707334e-4, 1.52527338415567726e-5)
D += (1.32154868087055628e-6, 1.01780570877339411e-7, 7.05489730415549928e-9)
D += (4.45581790833606449e-10, 2.57293241773623042e-11)


def reinterpret(argument, result, llvm_type):
    """Make a function that reads a number's bits as a number of another type."""

    @intrinsic
    def read(typing, number):
        def emit(context, builder, signature, values):
            return builder.bitcast(values[0], llvm_type)

        return result(argument), emit

    return read


def make_exponentials(real, whole, bias, digits, series, to_bits, to_real):
    """Make 2^z and the sigmoid for one precision, without a branch or a call.

    2^z = 2^k 2^f, k the nearest whole number: added to `magic` it stands in the last bits of a
    number, from where it is shifted into an exponent. From -bias down, all is 0.
    """
    low, high, one, log2_e = real(-bias), real(bias - 1), real(1), real(1.4426950408889634)
    magic, digits = real(3 * 2.0 ** (digits - 1) + bias), whole(digits)

    @njit(**LOOSE)
    def power_2(z):
        z = low if z < low else z
        k = np.rint(z)
        return series(z - k) * to_real(whole(to_bits(k + magic) << digits))

    @njit(**LOOSE)
    def sigmoid(z):
        z = -z * log2_e
        return one / (one + power_2(high if z > high else z))

    return power_2, sigmoid


@njit(**LOOSE)
def sum_single(f):
    return S[6] + f * (S[0] + f * (S[1] + f * (S[2] + f * (S[3] + f * (S[4] + f * S[5])))))


@njit(**LOOSE)
def sum_double(f):
    high = D[6] + f * (D[7] + f * (D[8] + f * (D[9] + f * (D[10] + f * D[11]))))
    low = D[2] + f * (D[3] + f * (D[4] + f * (D[5] + f * high)))
    return 1.0 + f * (D[0] + f * (D[1] + f * low))


bits_32 = reinterpret(types.float32, types.int32, ir.IntType(32))
bits_64 = reinterpret(types.float64, types.int64, ir.IntType(64))
float_32 = reinterpret(types.int32, types.float32, ir.FloatType())
float_64 = reinterpret(types.int64, types.float64, ir.DoubleType())
IN_SINGLE = make_exponentials(np.float32, np.int32, 127, 23, sum_single, bits_32, float_32)
IN_DOUBLE = make_exponentials(np.float64, np.int64, 1023, 52, sum_double, bits_64, float_64)


def power_2(z):
    """Compute 2^z for z up to 126; this form is for numba told not to compile."""
    return np.exp2(z)


def sigmoid(z):
    """Compute 1 / (1 + exp(-z)); this form is for numba told not to compile."""
    return 1 / (1 + np.exp(-z))


@overload(power_2)
def choose_power_2(z):
    chosen = IN_SINGLE[0] if z == types.float32 else IN_DOUBLE[0]
    return lambda z: chosen(z)


@overload(sigmoid)
def choose_sigmoid(z):
    chosen = IN_SINGLE[1] if z == types.float32 else IN_DOUBLE[1]
    return lambda z: chosen(z)
