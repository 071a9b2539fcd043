import { AppError } from '#kernel/errors'
import type { Effects } from '#store/engine/letter'

const isBroken = (cause: unknown): boolean =>
  cause instanceof AppError
    ? cause.code === 'not_found'
    : cause instanceof TypeError || cause instanceof RangeError

/**
 * Used when all work stops or resumes, which must not fail because of one row. If a row's record is
 * missing or cannot be read, the row is left alone, and its own claim ends it.
 */
export const unlessBroken = async (decide: () => Promise<Effects>): Promise<Effects> => {
  try {
    return await decide()
  } catch (cause) {
    if (isBroken(cause)) return {}
    throw cause
  }
}
