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
