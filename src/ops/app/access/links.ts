/**
 * Links for invitations and password resets. The URL holds a secret token, of which only the hash
 * is stored.
 */
import { createHash, randomBytes } from 'node:crypto'

/** `kind`: a readable prefix, for invitation or reset. */
export const newLinkToken = (kind: 'inv' | 'rst'): string =>
  `${kind}_${randomBytes(24).toString('base64url')}`
export const hashOfLink = (token: string): Buffer => createHash('sha256').update(token).digest()
export const tokenLink = (publicUrl: string, page: 'join' | 'reset', token: string): string =>
  `${publicUrl}/${page}?token=${token}`
