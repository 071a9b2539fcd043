/** People who use their workspaces on two servers while the secret key is rotated. */
import { randomUUID } from 'node:crypto'
import { tokenIn } from '#test/support/people'

export interface Person {
  access: string
  refresh: string
  /** The last secret that was made for the webhook, and the key of that request. */
  made: { key: string; secret: string } | undefined
}

export interface Seen {
  requests: number
  refreshes: number
  signedOut: number
  unreadable: number
}

/** A server may be killed while no refresh is on its way, since its answer would be lost. */
export class Quiet {
  #refreshing = 0
  #killing = false

  async refresh<T>(body: () => Promise<T>): Promise<T> {
    while (this.#killing) await Bun.sleep(20)
    this.#refreshing++
    try {
      return await body()
    } finally {
      this.#refreshing--
    }
  }

  async kill(body: () => Promise<void>): Promise<void> {
    this.#killing = true
    try {
      while (this.#refreshing > 0) await Bun.sleep(20)
      await body()
    } finally {
      this.#killing = false
    }
  }
}

interface Reply {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: every operation answers with another shape
  body: any
}

interface Asked {
  token?: string
  key?: string
  body?: unknown
}

const WITHIN_MS = 10_000

/** Undefined if the server died, or another owned the workspace until just now. */
const ask = async (
  url: string,
  method: string,
  path: string,
  { token, key, body }: Asked,
): Promise<Reply | undefined> => {
  const headers = {
    'content-type': 'application/json',
    ...(token && { authorization: `Bearer ${token}` }),
    ...(key && { 'idempotency-key': key }),
  }
  const sent = { method, headers, signal: AbortSignal.timeout(WITHIN_MS) }
  const made = body === undefined ? sent : { ...sent, body: JSON.stringify(body) }
  try {
    const response = await fetch(`${url}/api/v1/app/${path}`, made)
    return response.status >= 500
      ? undefined
      : { status: response.status, body: await response.json() }
  } catch {
    return undefined
  }
}

const PASSWORD = 'correct horse battery'

export const joined = async (url: string, link: string, email: string): Promise<Person> => {
  const input = { token: tokenIn(link), email, name: 'Ann', password: PASSWORD, delivery: 'body' }
  const reply = await ask(url, 'POST', 'invitations/accept', { body: input })
  if (reply?.status !== 201) throw new Error(`joining: ${JSON.stringify(reply)}`)
  const { access_token: access, refresh_token: refresh } = reply.body.session
  return { access, refresh, made: undefined }
}

/** The servers of the moment; `random` picks one. */
export interface Place {
  urls(): string[]
  random(): number
  quiet: Quiet
  seen: Seen
}

const oneOf = ({ urls, random }: Place): string => {
  const all = urls()
  return all[Math.floor(random() * all.length)]!
}

/** Each request is repeated until a server answers it. */
const asked = async (place: Place, ...given: [string, string, Asked]): Promise<Reply> => {
  for (let tries = 0; tries < 300; tries++) {
    const reply = await ask(oneOf(place), ...given)
    if (reply) return reply
    await Bun.sleep(100)
  }
  throw new Error(`${given[0]} ${given[1]}: no server answered`)
}

export const refresh = (place: Place, person: Person): Promise<void> =>
  place.quiet.refresh(async () => {
    const body = { refresh_token: person.refresh }
    const reply = await ask(oneOf(place), 'POST', 'session/refresh', { body })
    place.seen.refreshes++
    if (reply?.status !== 200) {
      place.seen.signedOut++
      console.error('signed out', reply)
      return
    }
    const { access_token: access, refresh_token } = reply.body.session
    Object.assign(person, { access, refresh: refresh_token })
  })

/** Asks for a new secret of the webhook. */
export const rotateWebhook = async (place: Place, person: Person): Promise<void> => {
  const key = randomUUID()
  const [method, path, body] = person.made
    ? (['POST', 'webhook/rotate', {}] as const)
    : (['PUT', 'webhook', { url: 'https://hooks.example.com/tendril' }] as const)
  const reply = await asked(place, method, path, { token: person.access, key, body })
  place.seen.requests++
  if (reply.status === 401) place.seen.signedOut++
  else if (reply.status !== 200) throw new Error(`webhook: ${JSON.stringify(reply)}`)
  else person.made = { key, secret: reply.body.secret }
}

/** Asks again with the key of the last request, whose answer is stored sealed. */
export const replay = async (place: Place, person: Person): Promise<void> => {
  if (!person.made) return
  const { key, secret } = person.made
  const given = { token: person.access, key, body: {} }
  const reply = await asked(place, 'POST', 'webhook/rotate', given)
  place.seen.requests++
  if (reply.status === 401) place.seen.signedOut++
  // The key of the request that set the webhook was used for another operation.
  else if (reply.status === 200 && reply.body.secret !== secret) place.seen.unreadable++
}

export const look = async (place: Place, person: Person): Promise<void> => {
  const reply = await asked(place, 'GET', 'session', { token: person.access })
  place.seen.requests++
  if (reply.status === 401) place.seen.signedOut++
}
