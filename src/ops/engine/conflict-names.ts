/** Names of those who acted first, in conflicts: for callers who see names. */
import { AppError } from '#kernel/errors'
import { namedAuthors } from '#store/app/names'
import type { QueryContext } from './call.ts'
import { seesNames } from './people-names.ts'

/** The error, with that name. Without it if it cannot be read: the refusal matters more. */
export const withNameIn = async (
  caller: Pick<QueryContext, 'principal' | 'job' | 'read'>,
  error: AppError,
): Promise<AppError> => {
  const { conflict, cause, parts } = error
  const { by } = conflict ?? {}
  if (!by || by.name !== null || by.kind === 'agent' || by.kind === 'system') return error
  if (by.kind === 'person' && !seesNames(caller)) return error
  try {
    const [found] = await caller.read(namedAuthors([by]))
    return found ? AppError.of({ ...parts, by: found.author, cause }) : error
  } catch {
    return error
  }
}
