/** Credentials in the Authorization header. */
import { createHash, timingSafeEqual } from 'node:crypto'

const BEARER = /^Bearer +(\S+) *$/i

/** What was sent as a Bearer token; undefined if that is not what the header has. */
export const bearerIn = ({ headers }: Request): string | undefined =>
  BEARER.exec(headers.get('authorization') ?? '')?.[1]

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Whether this token was sent. Takes as long for a wrong one, however much of it is right. */
export const isBearer = (request: Request, token: string): boolean =>
  timingSafeEqual(digest(bearerIn(request) ?? ''), digest(token))
