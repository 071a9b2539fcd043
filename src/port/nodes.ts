/** The other processes of this deployment, as one that wants a command run where its tenant is owned. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { Allowance } from '#kernel/allowance'
import { AppError, type ErrorCode, type ErrorDetail } from '#kernel/errors'
import { deriveKey } from '#kernel/secret'
import type { Principal } from '#store/engine/principal'

/** What travels between processes: a command, not the letter made of it, because code does not travel. */
export interface RemoteCommand {
  operation: string
  input: unknown
  call: RemoteCall
}

interface RemoteCall {
  tenantId: string
  principal: Principal
  scopes: string[]
  surface: string
  requestId: string
  idempotencyKey: string
  /** The key is the deployment's own: the caller sent none. */
  ownKey?: boolean | undefined
}

interface RemoteAnswer {
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

/** What a letter says of itself in its headers, so that it can be refused before its body is read. */
interface LetterLabel {
  operation: string
  /** The id of the letter: its idempotency key. */
  letter: string
  workspace: string
}

/** Headers that a process of this deployment has signed, not long ago. */
interface Seal extends Pick<LetterLabel, 'operation' | 'workspace'> {
  /** Whether this is the body that they came with. */
  fits(body: string): boolean
}

export interface NodeSignature {
  /** Headers for a body. They go with a Content-Length, which is signed too. */
  sign(body: string, label: LetterLabel): Record<string, string>
  /** Undefined for headers that nobody here has signed, or too long ago. */
  sealOf(headers: Headers): Seal | undefined
}

export const LETTERS_PATH = '/internal/letters'

const TIME_HEADER = 'x-tendril-time'
const OPERATION_HEADER = 'x-tendril-operation'
const LETTER_HEADER = 'x-tendril-letter'
const WORKSPACE_HEADER = 'x-tendril-workspace'
const DIGEST_HEADER = 'x-tendril-digest'
const SIGNATURE_HEADER = 'x-tendril-signature'
const SIGNED = [TIME_HEADER, OPERATION_HEADER, LETTER_HEADER, WORKSPACE_HEADER, DIGEST_HEADER, 'content-length']
/** How long a captured request stays good. */
const FRESH_MS = 30_000
/** Longer than the longest wait for a lane. */
const ANSWER_WITHIN_MS = 30_000
const LOOK_EVERY_MS = 500

const digestOf = (body: string): string => createHash('sha256').update(body).digest('hex')

/** Keys are text of any kind, headers are not. */
const inHeader = (text: string): string => encodeURIComponent(text.toWellFormed())

/**
 * The signature is over the headers, which name a digest of the body: so it binds both, and the first can be checked alone.
 * `now`: a clock that all processes share, in epoch milliseconds; their own may be hours apart.
 */
export const nodeSignature = (secret: Buffer, now: () => number): NodeSignature => {
  const key = deriveKey(secret, 'letters between nodes')
  const signatureOf = (headers: Headers): Buffer =>
    createHmac('sha256', key)
      .update(JSON.stringify(SIGNED.map((name) => headers.get(name))))
      .digest()
  return {
    sign(body, { operation, letter, workspace }) {
      const headers = {
        [TIME_HEADER]: String(Math.round(now())),
        [OPERATION_HEADER]: operation,
        [LETTER_HEADER]: inHeader(letter),
        [WORKSPACE_HEADER]: workspace,
        [DIGEST_HEADER]: digestOf(body),
        'content-length': String(Buffer.byteLength(body)),
      }
      return { ...headers, [SIGNATURE_HEADER]: signatureOf(new Headers(headers)).toString('hex') }
    },
    sealOf(headers) {
      const given = Buffer.from(headers.get(SIGNATURE_HEADER) ?? '', 'hex')
      const expected = signatureOf(headers)
      const fresh = Math.abs(now() - Number(headers.get(TIME_HEADER))) <= FRESH_MS
      if (given.length !== expected.length || !timingSafeEqual(given, expected) || !fresh) return undefined
      const said = (name: string): string => headers.get(name) ?? ''
      return {
        operation: said(OPERATION_HEADER),
        workspace: said(WORKSPACE_HEADER),
        fits: (body) => said(DIGEST_HEADER) === digestOf(body),
      }
    },
  }
}

export const createNodeClient = (signature: NodeSignature): NodeClient => ({
  async send(url, command, stillThere) {
    const { operation, call } = command
    const label = { operation, letter: call.idempotencyKey, workspace: call.tenantId }
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
      const headers = { 'content-type': 'application/json', ...signature.sign(body, label) }
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
