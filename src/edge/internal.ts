/** Commands that other processes of this deployment send here, because their tenant is owned here. */
import { AppError, fail } from '#kernel/errors'
import type { Log } from '#kernel/log'
import type { Operation } from '#ops/bind'
import type { Call } from '#ops/call'
import type { NodeSignature, RemoteCommand, RemoteReply } from '#port/nodes'
import { OwnedElsewhere } from '#store/engine/placement'
import { readForwarded } from './forwarded-command.ts'
import type { Incoming } from './incoming.ts'

/** A letter holds its input, escaped once more, and its caller: it may be larger than the body that it came from. */
const LETTER_FACTOR = 4

export interface LetterDeps {
  operations: Operation[]
  signature: NodeSignature
  /** Whether this process knows that what it owns is its own. */
  serving(): boolean
  log: Log
}

/**
 * Answers 404, as for any unknown path, to whoever does not know the deployment's key, before anything of the body is read; 400 to
 * a signed letter that is malformed.
 */
export const receiveLetter = ({ operations, signature, serving, log }: LetterDeps) => {
  const byId = new Map(operations.map((o) => [o.id, o]))
  return async (incoming: Incoming): Promise<Response> => {
    const seal = signature.sealOf(incoming.request.headers) ?? fail('not_found', 'no such path')
    const o = byId.get(seal.operation) ?? fail('not_found', 'no such operation')
    const body = await incoming.text({ limit: o.bodyLimit * LETTER_FACTOR, workspace: seal.workspace })
    if (!seal.fits(body)) fail('not_found', 'no such path')
    const command = readForwarded(body)
    return Response.json(await reply(o, command, { serving, log }))
  }
}

const reply = async (
  o: Operation,
  { input, call }: RemoteCommand,
  { serving, log }: Pick<LetterDeps, 'serving' | 'log'>,
): Promise<RemoteReply> => {
  try {
    return { answer: await o.run(() => input, { ...call, scopes: new Set(call.scopes), forwarded: true } as Call) }
  } catch (cause) {
    if (cause instanceof OwnedElsewhere) return { elsewhere: true }
    // Its 503 would be the caller's answer, when another process is about to serve.
    if (cause instanceof AppError && cause.code === 'unavailable' && !serving()) return { elsewhere: true }
    if (!(cause instanceof AppError)) log.error({ err: cause, operation: o.id, request_id: call.requestId }, 'a forwarded command failed')
    const { code, detail, details, retryAfter, allowances } = AppError.from(cause)
    return { error: { code, detail, details, retryAfter, allowances } }
  }
}
