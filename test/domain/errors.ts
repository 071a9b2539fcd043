import { AppError } from '#kernel/errors'

/** The error that a call throws; anything else thrown, or nothing, fails the test. */
export const errorOf = (call: () => unknown): AppError => {
  try {
    call()
  } catch (cause) {
    if (cause instanceof AppError) return cause
    throw cause
  }
  throw new Error('nothing was thrown')
}

/** The first field that the error names. */
export const faultOf = (call: () => unknown): string | undefined => errorOf(call).details?.[0]?.path
