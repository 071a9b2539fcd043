/**
 * Sends commands to the other processes of a deployment, so that each runs where its tenant is
 * owned.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { Allowance } from '#kernel/allowance'
import { AppError, type ErrorParts } from '#kernel/errors'
import { FairLimit } from '#kernel/fair-limit'
import type { SecretKeys } from '#kernel/secret-keys'
import type { Principal } from '#store/engine/principal'

/** A command on its way to another process. Not a letter: letters contain code. */
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
  /** Whether the idempotency key was generated here because the caller sent none. */
  ownKey?: boolean | undefined
  /** The context of the span in which it was sent. */
  trace?: string | undefined
}

interface RemoteAnswer {
  status: number
  body: string
  replayed?: boolean
  allowances?: Allowance[]
}

/** The owner's reply, or that it no longer owns the tenant, or cannot be sure. */
export type RemoteReply = { answer: RemoteAnswer } | { error: ErrorParts } | { elsewhere: true }

/** The command may or may not have run. It can be sent again under its key. */
export class NodeUnreachable extends Error {
  override readonly name = 'NodeUnreachable'
}

interface Sending {
  isAlive(): Promise<boolean>
  /** Does not wait for other commands. Set for the kill switch. */
  urgent: boolean
}

export interface NodeClient {
  /**
   * Returns the owner's answer or throws its error. Throws `rate_limited` or `unavailable` if too
   * many commands of the workspace are under way. Throws `NodeUnreachable` if the connection broke,
   * or if `isAlive` said that the process is gone.
   */
  send(url: string, command: RemoteCommand, how: Sending): Promise<RemoteAnswer>
}

/**
 * The part of a command that is in its headers, so that it can be refused before its body is read.
 */
interface LetterLabel {
  operation: string
  /** The idempotency key. */
  letter: string
  workspace: string
}

/** Headers signed recently by a process of this deployment. */
interface Seal extends Pick<LetterLabel, 'operation' | 'workspace'> {
  /** Whether the body is the one that was signed. */
  fits(body: string): boolean
}

export interface NodeSignature {
  /** Headers for a body. Content-Length must be sent as well, because it is signed. */
  sign(body: string, label: LetterLabel): Record<string, string>
  /** Undefined if the headers are unsigned, or signed too long ago. */
  sealOf(headers: Headers): Seal | undefined
}

export const LETTERS_PATH = '/internal/letters'

const TIME_HEADER = 'x-tendril-time'
const OPERATION_HEADER = 'x-tendril-operation'
const LETTER_HEADER = 'x-tendril-letter'
const WORKSPACE_HEADER = 'x-tendril-workspace'
const DIGEST_HEADER = 'x-tendril-digest'
const SIGNATURE_HEADER = 'x-tendril-signature'
const SIGNED = [
  TIME_HEADER,
  OPERATION_HEADER,
  LETTER_HEADER,
  WORKSPACE_HEADER,
  DIGEST_HEADER,
  'content-length',
]
/** How long a captured request can be replayed. */
const FRESH_MS = 30_000
/** Longer than the longest wait for a lane. */
const ANSWER_WITHIN_MS = 30_000
const PROBE_EVERY_MS = 500

const digestOf = (body: string): string => createHash('sha256').update(body).digest('hex')

/** Keys can be any text, but headers cannot. */
const inHeader = (text: string): string => encodeURIComponent(text.toWellFormed())

/**
 * Signs the headers, which include a digest of the body. The signature thus covers both, and the
 * headers can be checked by themselves. `now`: a clock that all processes share, in epoch
 * milliseconds. Their own clocks may be hours apart.
 */
export const nodeSignature = (secrets: SecretKeys, now: () => number): NodeSignature => {
  const keys = secrets.derived('letters between nodes')
  const signatureOf = (headers: Headers, key: Buffer): Buffer =>
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
      const signature = signatureOf(new Headers(headers), keys.newest())
      return { ...headers, [SIGNATURE_HEADER]: signature.toString('hex') }
    },
    sealOf(headers) {
      const received = Buffer.from(headers.get(SIGNATURE_HEADER) ?? '', 'hex')
      const isUnder = (key: Buffer): boolean => {
        const expected = signatureOf(headers, key)
        return received.length === expected.length && timingSafeEqual(received, expected)
      }
      const fresh = Math.abs(now() - Number(headers.get(TIME_HEADER))) <= FRESH_MS
      if (!fresh || !keys.accepted().some(isUnder)) return undefined
      const header = (name: string): string => headers.get(name) ?? ''
      return {
        operation: header(OPERATION_HEADER),
        workspace: header(WORKSPACE_HEADER),
        fits: (body) => header(DIGEST_HEADER) === digestOf(body),
      }
    },
  }
}

/**
 * The commands of a process that are on their way to others, granted to workspaces in turn. Each
 * takes one of the 512 connections that Bun opens at once. The rest are for streams that are passed
 * on and for calls of models.
 */
const FORWARDED = {
  name: 'forwarded',
  total: 192,
  share: { alone: 160, among: 64 },
  bound: 1_000,
  withinMs: 10_000,
}

export const createNodeClient = (signature: NodeSignature): NodeClient => {
  const limit = new FairLimit(FORWARDED)
  return {
    send: (url, command, { isAlive, urgent }) => {
      const send = () => sendTo(signature, { url, command, isAlive })
      return urgent ? send() : limit.run(command.call.tenantId, send)
    },
  }
}

const sendTo = async (
  signature: NodeSignature,
  { url, command, isAlive }: Pick<Sending, 'isAlive'> & { url: string; command: RemoteCommand },
): Promise<RemoteAnswer> => {
  const { operation, call } = command
  const label = { operation, letter: call.idempotencyKey, workspace: call.tenantId }
  const body = JSON.stringify(command)
  const gone = new AbortController()
  const watch = setInterval(() => {
    isAlive().then(
      (alive) => alive || gone.abort(),
      () => {},
    )
  }, PROBE_EVERY_MS)
  try {
    const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(ANSWER_WITHIN_MS)])
    const headers = { 'content-type': 'application/json', ...signature.sign(body, label) }
    const response = await fetch(new URL(LETTERS_PATH, url), {
      method: 'POST',
      headers,
      body,
      signal,
      redirect: 'manual',
    })
    if (response.status !== 200)
      throw new NodeUnreachable(`the process at ${url} answered ${response.status}`)
    return resultOf((await response.json()) as RemoteReply)
  } catch (cause) {
    if (cause instanceof AppError || cause instanceof NodeUnreachable) throw cause
    throw new NodeUnreachable(`the process at ${url} could not be reached`, { cause })
  } finally {
    clearInterval(watch)
  }
}

const resultOf = (reply: RemoteReply): RemoteAnswer => {
  if ('answer' in reply) return reply.answer
  if ('elsewhere' in reply)
    throw new NodeUnreachable('the process does not own the workspace any more')
  throw AppError.of(reply.error)
}
