/** Who is calling: API keys as Bearer credentials. */
import { hashApiKey, isApiKey } from '#kernel/api-key'
import { AppError } from '#kernel/errors'
import type { Log } from '#kernel/log'
import type { Db } from '#store/db'
import { findKey, type KeyGrant, keyLives, touchKeys } from '#store/keys'

/** Keys kept in memory, least recently used first out. Each statement checks again that its key lives, so none grows stale. */
const CACHED_KEYS = 10_000
const TOUCH_EVERY_MS = 10_000

export interface Authenticator extends AsyncDisposable {
  /** Throws `unauthenticated` for a missing, malformed, unknown, revoked or expired key. */
  authenticate(header: string | null): Promise<KeyGrant>
  /** After a refusal that may have come before any statement looked at the key: throws `unauthenticated` for one that has died. */
  confirm(grant: KeyGrant): Promise<void>
}

export const createAuthenticator = (db: Db, log: Log): Authenticator => {
  const cache = new Map<string, KeyGrant>()
  const used = new Set<string>()
  const flush = async (): Promise<void> => {
    const ids = [...used]
    used.clear()
    if (ids.length > 0) await touchKeys(db, ids).catch((cause) => log.warn({ err: cause }, 'last use of keys could not be noted'))
  }
  const timer = setInterval(() => void flush(), TOUCH_EVERY_MS)
  return {
    async authenticate(header) {
      const grant = await lookUp(db, cache, keyIn(header))
      used.add(grant.id)
      return grant
    },
    async confirm(grant) {
      if (await keyLives(db, grant)) return
      for (const [hash, cached] of cache) if (cached.id === grant.id) cache.delete(hash)
      throw new AppError('unauthenticated')
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await flush()
    },
  }
}

const keyIn = (header: string | null): string => {
  const [, key] = /^Bearer +(\S+) *$/i.exec(header ?? '') ?? []
  if (key === undefined) throw new AppError('unauthenticated', header === null ? 'send an API key as Authorization: Bearer <key>' : '')
  if (!isApiKey(key)) throw new AppError('unauthenticated')
  return key
}

const lookUp = async (db: Db, cache: Map<string, KeyGrant>, key: string): Promise<KeyGrant> => {
  const hash = hashApiKey(key)
  const name = hash.toString('base64')
  const cached = cache.get(name)
  const grant = cached ?? (await findKey(db, hash))
  if (!grant) throw new AppError('unauthenticated')
  cache.delete(name)
  cache.set(name, grant)
  if (cache.size > CACHED_KEYS) cache.delete(cache.keys().next().value!)
  return grant
}
