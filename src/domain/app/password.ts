/**
 * Rules for new passwords. Existing passwords are only compared, whatever the rules were when they
 * were chosen.
 */
import { isCommonPassword } from '#kernel/common-passwords'
import { AppError } from '#kernel/errors'
import { emailKey } from './person.ts'

/** In characters, not counting spaces at the ends. */
export const SHORTEST_PASSWORD = 10

/** `email` is the owner's. Passwords are stored as typed; only these rules ignore outer spaces. */
const flawOf = (password: string, email: string | null): string | undefined => {
  const core = password.trim()
  if ([...core].length < SHORTEST_PASSWORD)
    return `must have at least ${SHORTEST_PASSWORD} characters, not counting leading and trailing spaces`
  const key = email === null ? '' : emailKey(email)
  if ([key, key.split('@')[0]].includes(emailKey(core)))
    return 'must not be the email address, nor its first part'
  return isCommonPassword(core)
    ? 'is a common password, which attackers try first: choose another'
    : undefined
}

/** Throws `invalid_input`, naming the field `path`. */
export const requireGoodPassword = (
  password: string,
  { email, path }: { email: string | null; path: string },
): void => {
  const message = flawOf(password, email)
  if (message !== undefined)
    throw new AppError('invalid_input', `${path} ${message}`, { details: [{ path, message }] })
}
