/** Links that let somebody in: a secret in the address, kept as its hash alone. */
import { createHash, randomBytes } from 'node:crypto'

/** `kind`: what it begins with, so that people and programs know what they have before them. */
export const newLinkToken = (kind: 'inv' | 'rst'): string => `${kind}_${randomBytes(24).toString('base64url')}`
export const hashOfLink = (token: string): Buffer => createHash('sha256').update(token).digest()
export const linkTo = (publicUrl: string, page: 'join' | 'reset', token: string): string => `${publicUrl}/${page}?token=${token}`
