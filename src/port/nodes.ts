/** The other processes of this deployment, as one that wants a command run where its tenant is owned. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Allowance } from '#kernel/allowance'
import { AppError, type ErrorCode, type ErrorDetail } from '#kernel/errors'
import { deriveKey } from '#kernel/secret'
import type { Principal } from '#store/principal'

/** What travels between processes: a command, not the letter made of it, because code does not travel. */
export interface RemoteCommand {
  operation: string
  input: unknown
  call: RemoteCall
}

export interface RemoteCall {
  tenantId: string
  principal: Principal
  scopes: string[]
  surface: string
  requestId: string
  idempotencyKey: string
}

export interface RemoteAnswer {
  status: number
  body: string
  replayed?: boolean
  allowances?: Allowance[]
}

/** The owner's reply, or that it is not the owner any more, or cannot know that it is. */
export type RemoteReply =
  | { answer: RemoteAnswer }
  | { error: { code: ErrorCode; detail: string; details?: ErrorDetail[]; retryAfter?: number; allowances?: Allowance[] } }
  | { elsewhere: true }

/** The command may or may not have run: the same command may be sent again under its key. */
export class NodeUnreachable extends Error {
  override readonly name = 'NodeUnreachable'
}

export interface NodeClient {
  /** The owner's answer; throws its error. Throws `NodeUnreachable` when it broke off, or `stillThere` said that it is gone. */
  send(url: string, command: RemoteCommand, stillThere: () => Promise<boolean>): Promise<RemoteAnswer>
}

export interface NodeSignature {
  sign(body: string): Record<string, string>
  /** Whether a process of this deployment wrote this body, not long ago. */
  verify(headers: Headers, body: string): boolean
}

export const LETTERS_PATH = '/internal/letters'

const TIME_HEADER = 'x-tendril-time'
const SIGNATURE_HEADER = 'x-tendril-signature'
/** How long a captured request stays good. */
const FRESH_MS = 30_000
/** Longer than the longest wait for a lane. */
const ANSWER_WITHIN_MS = 30_000
const LOOK_EVERY_MS = 500

/** `now`: a clock that all processes share, in epoch milliseconds; their own may be hours apart. */
export const nodeSignature = (secret: Buffer, now: () => number): NodeSignature => {
  const key = deriveKey(secret, 'letters between nodes')
  const signatureOf = (time: string, body: string): Buffer => createHmac('sha256', key).update(`${time}.${body}`).digest()
  return {
    sign(body) {
      const time = String(Math.round(now()))
      return { [TIME_HEADER]: time, [SIGNATURE_HEADER]: signatureOf(time, body).toString('hex') }
    },
    verify(headers, body) {
      const time = headers.get(TIME_HEADER) ?? ''
      const given = Buffer.from(headers.get(SIGNATURE_HEADER) ?? '', 'hex')
      const expected = signatureOf(time, body)
      const fresh = Math.abs(now() - Number(time)) <= FRESH_MS
      return given.length === expected.length && timingSafeEqual(given, expected) && fresh
    },
  }
}

export const createNodeClient = (signature: NodeSignature): NodeClient => ({
  async send(url, command, stillThere) {
    const body = JSON.stringify(command)
    const gone = new AbortController()
    const watch = setInterval(() => {
      stillThere().then(
        (there) => there || gone.abort(),
        () => {},
      )
    }, LOOK_EVERY_MS)
    try {
      const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(ANSWER_WITHIN_MS)])
      const headers = { 'content-type': 'application/json', ...signature.sign(body) }
      const response = await fetch(new URL(LETTERS_PATH, url), { method: 'POST', headers, body, signal, redirect: 'manual' })
      if (response.status !== 200) throw new NodeUnreachable(`the process at ${url} answered ${response.status}`)
      return resultOf((await response.json()) as RemoteReply)
    } catch (cause) {
      if (cause instanceof AppError || cause instanceof NodeUnreachable) throw cause
      throw new NodeUnreachable(`the process at ${url} could not be reached`, { cause })
    } finally {
      clearInterval(watch)
    }
  },
})

const resultOf = (reply: RemoteReply): RemoteAnswer => {
  if ('answer' in reply) return reply.answer
  if ('elsewhere' in reply) throw new NodeUnreachable('the process does not own the workspace any more')
  const { code, detail, ...extra } = reply.error
  throw new AppError(code, detail, extra)
}
