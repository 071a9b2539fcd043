/** What outlasts the session in which it is made asks for the password again. */
import { PASSWORD_FRESH_MS } from '#domain/app/person'
import { AppError } from '#kernel/errors'
import { passwordIsStale } from '#store/app/sessions'
import type { CommandContext } from './call.ts'

/**
 * Throws `reauthentication_required` in a session of the command line whose password was given more than ten minutes ago.
 *
 * The token of such a session rests in a file for its hour, where another program of this user may find it: by itself it must not
 * become access that does not end. The tokens of browsers are out of reach of scripts, and keys make neither keys nor owners, so
 * neither is asked.
 */
export const requireFreshPassword = async ({ sql, principal }: Pick<CommandContext, 'sql' | 'principal'>): Promise<void> => {
  if (principal.kind !== 'session' || !(await passwordIsStale(sql, principal.id, PASSWORD_FRESH_MS))) return
  const message = 'POST /api/v1/app/session/confirm with the password, then send this again'
  throw new AppError('reauthentication_required', 'you gave your password more than 10 minutes ago; confirm it again', {
    details: [{ path: '', message }],
  })
}
