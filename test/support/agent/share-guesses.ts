/**
 * Guesses at the tokens of shares: kinds of tokens that must not open anything, and the server's
 * answers to them.
 */
import { randomBytes } from 'node:crypto'
import type { Random } from '#kernel/random'
import { pick } from '#kernel/random'
import type { TestApp } from '../app.ts'
import { expire, makeArtifact, makeShare } from './artifacts.ts'
import { newSurface } from './surface.ts'

const PATH = '/api/v1/artifacts'

/**
 * `near`: a valid token except for one character. `id`: the id of an existing share instead of its
 * token.
 */
export const guessKinds = [
  'unknown',
  'malformed',
  'near',
  'id',
  'revoked',
  'expired',
  'deleted',
] as const
export type GuessKind = (typeof guessKinds)[number]

/** The shares of each kind: several, so that no single row is always in the cache. */
const EACH = 20

export const newToken = (): string => randomBytes(32).toString('base64url')

/** Makes the shares in their own workspace, and returns tokens of a kind one at a time. */
export const guesser = async (
  app: TestApp,
  random: Random,
): Promise<{ token(kind: GuessKind): string; valid: string }> => {
  const surface = await newSurface(app)
  const { key } = surface
  const made = async () => {
    const { id } = await makeArtifact(surface)
    return makeShare(surface, id)
  }
  const several = async () => {
    const all: Awaited<ReturnType<typeof made>>[] = []
    while (all.length < EACH) all.push(await made())
    return all
  }
  const [active, revoked, expired, deleted] = [
    await several(),
    await several(),
    await several(),
    await several(),
  ]
  for (const { id, artifactId } of revoked)
    await app.send('DELETE', `${PATH}/${artifactId}/shares/${id}`, { key })
  await expire(app, ...expired.map(({ id }) => id))
  for (const { artifactId } of deleted) await app.send('DELETE', `${PATH}/${artifactId}`, { key })
  const one = (all: typeof active) => pick(random, all)!
  const near = (token: string): string => (token.startsWith('A') ? 'B' : 'A') + token.slice(1)
  const tokens: Record<GuessKind, () => string> = {
    unknown: newToken,
    malformed: () => newToken().slice(0, 20),
    near: () => near(one(active).token),
    id: () => one(active).id,
    revoked: () => one(revoked).token,
    expired: () => one(expired).token,
    deleted: () => one(deleted).token,
  }
  return { token: (kind) => tokens[kind](), valid: active[0]!.token }
}

/** Status, headers and body as one text. The request id is always the same. */
export const guess = async (url: string, token: string): Promise<string> => {
  const response = await fetch(`${url}${PATH}/shared/${token}`, {
    headers: { 'x-request-id': 'guess' },
  })
  const headers = [...response.headers].filter(([name]) => name !== 'date').sort()
  return JSON.stringify([response.status, headers, await response.text()])
}
