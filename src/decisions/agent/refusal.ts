import { AppError, isUnavailable } from '#kernel/errors'
import { storable } from '#kernel/storable'

/** The error as a result for the model; undefined if the letter itself must fail. */
export const refusalOf = (cause: unknown): string | undefined => {
  if (!(cause instanceof AppError) || isUnavailable(cause) || cause.code === 'internal')
    return undefined
  const details =
    cause.details?.map(({ path, message }) => `${path || 'the arguments'} ${message}`) ?? []
  return storable([...new Set([cause.message, ...details.slice(0, 5)])].join('; '))
}
