/** Requires a recent password before a command-line session grants lasting access. */
import { PASSWORD_FRESH_MS } from '#domain/app/person'
import { AppError } from '#kernel/errors'
import { stalePassword } from '#store/app/sessions'
import { when } from '#store/engine/load'
import type { Principal } from '#store/engine/principal'

/** Loads whether the caller's password is too old, for `requireFreshPassword`. */
export const staleness = ({ kind, id }: Principal) =>
  when(kind === 'session', stalePassword(id, PASSWORD_FRESH_MS))

/**
 * Throws `reauthentication_required` in a command-line session if the password was given more than
 * ten minutes ago.
 *
 * The token of such a session lies in a file for an hour, where other programs of the user can find
 * it. A stolen token must not be enough for lasting access. Browsers are exempt because scripts
 * cannot reach their tokens, API keys because they can create neither keys nor owners.
 */
export const requireFreshPassword = (isStale: boolean | undefined): void => {
  if (!isStale) return
  const message = 'POST /api/v1/app/session/confirm with the password, then send this again'
  throw new AppError(
    'reauthentication_required',
    'you gave your password more than 10 minutes ago; confirm it again',
    {
      details: [{ path: '', message }],
    },
  )
}
