import { AppError } from '#kernel/errors'
import type { Effects } from '#store/engine/letter'

const isBroken = (cause: unknown): boolean =>
  cause instanceof AppError
    ? cause.code === 'not_found'
    : cause instanceof TypeError || cause instanceof RangeError

/**
 * For a stop of all work and its end, which must not fail by one row: nothing of a row whose record
 * is gone or cannot be read. It stays, and its own claim ends it.
 */
export const unlessBroken = async (decide: () => Promise<Effects>): Promise<Effects> => {
  try {
    return await decide()
  } catch (cause) {
    if (isBroken(cause)) return {}
    throw cause
  }
}
