/** Requests of the protocol to a PDS, fake or real, as tests make them. */
import { expect } from 'bun:test'
import { randomBytes } from 'node:crypto'

/** A PDS without an AppView, and its directory of DIDs. */
export interface PdsCase {
  url: string
  plcUrl: string
  /** What its tokens are signed with. */
  secret: string
  takeDown(did: string): Promise<void>
}

interface PdsCommit {
  cid: string
  rev: string
}

/** The fields that tests look at, each in the answers of some methods. */
export interface PdsBody extends PdsCommit {
  did: string
  handle: string
  password: string
  accessJwt: string
  refreshJwt: string
  uri: string
  value: Record<string, unknown>
  records: { uri: string }[]
  cursor?: string
  commit?: PdsCommit
  validationStatus: string
}

export interface PdsAnswered {
  status: number
  type: string | null
  /** The JSON; undefined if it is none. */
  body: PdsBody
}

export interface PdsCall {
  query?: Record<string, string>
  /** Sent as JSON. */
  body?: unknown
  verb?: string
  token?: string
  headers?: Record<string, string>
}

export interface PdsUser {
  did: string
  handle: string
  password: string
  appPassword: string
  accessJwt: string
  refreshJwt: string
}

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const callPds = async (
  { url }: Pick<PdsCase, 'url'>,
  method: string,
  { query, body, verb, token, headers = {} }: PdsCall = {},
): Promise<PdsAnswered> => {
  const answer = await fetch(`${url}/xrpc/${method}?${new URLSearchParams(query)}`, {
    method: verb ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await answer.text()
  return {
    status: answer.status,
    type: answer.headers.get('content-type'),
    body: jsonOf(text) as PdsBody,
  }
}

/** The answer of a refusal, to compare with. */
export const refusedBy = (
  status: number,
  error: string,
  message: string = expect.any(String),
): PdsAnswered => ({
  status,
  type: expect.stringContaining('application/json'),
  body: { error, message } as unknown as PdsBody,
})

export const newPdsHandle = (): string => `u${randomBytes(6).toString('hex')}.test`

/** A new account with an app password, and a session by that. */
export const newPdsUser = async (it: PdsCase): Promise<PdsUser> => {
  const [handle, password] = [newPdsHandle(), randomBytes(8).toString('hex')]
  const made = await callPds(it, 'com.atproto.server.createAccount', {
    body: { handle, email: `${handle}@mail.test`, password },
  })
  const app = await callPds(it, 'com.atproto.server.createAppPassword', {
    body: { name: 'one' },
    token: made.body.accessJwt,
  })
  const user = { did: made.body.did, handle, password, appPassword: app.body.password }
  return { ...user, ...(await logIn(it, user, user.appPassword)) }
}

const logIn = async (it: PdsCase, { handle }: { handle: string }, password: string) => {
  const { body } = await callPds(it, 'com.atproto.server.createSession', {
    body: { identifier: handle, password },
  })
  return { accessJwt: body.accessJwt as string, refreshJwt: body.refreshJwt as string }
}
