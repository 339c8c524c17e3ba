// How the variants of a product read weights from a storage buffer: an array of WEIGHT, whose
// elements DECODED() makes float; of BLOCKS it has words, which are decoded later. Include it
// before any code.
#if defined(VARIANT_F32)
#define WEIGHT float
#define DECODED(e) (e)
#elif defined(VARIANT_F16)
#extension GL_EXT_shader_16bit_storage : require
#define WEIGHT uint16_t
#define DECODED(e) unpackHalf2x16(uint(e)).x
#elif defined(VARIANT_BF16)
#extension GL_EXT_shader_16bit_storage : require
#define WEIGHT uint16_t
#define DECODED(e) uintBitsToFloat(uint(e) << 16)
#else
#define BLOCKS
#define WEIGHT uint
#define DECODED(e) (e)
#endif
