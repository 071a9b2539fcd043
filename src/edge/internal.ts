/** Commands that other processes of this deployment send here, because their tenant is owned here. */
import { AppError } from '#kernel/errors'
import type { Log } from '#kernel/log'
import type { Operation } from '#ops/bind'
import type { Call } from '#ops/call'
import type { NodeSignature, RemoteCommand, RemoteReply } from '#port/nodes'
import { OwnedElsewhere } from '#store/placement'
import { readForwarded } from './forwarded.ts'
import { BODY_LIMIT, readText } from './input.ts'

/** A command with its input, escaped once more, and its caller. */
const LETTER_LIMIT = 4 * BODY_LIMIT

export interface LetterDeps {
  operations: Operation[]
  signature: NodeSignature
  /** Whether this process knows that what it owns is its own. */
  serving(): boolean
  log: Log
}

/** Answers 404, as for any unknown path, to whoever does not know the deployment's key; 400 to a signed letter that is malformed. */
export const receiveLetter = ({ operations, signature, serving, log }: LetterDeps) => {
  const byId = new Map(operations.map((o) => [o.id, o]))
  return async (request: Request): Promise<Response> => {
    const body = await readText(request, LETTER_LIMIT)
    if (!signature.verify(request.headers, body)) throw new AppError('not_found', 'no such path')
    const command = readForwarded(body)
    const o = byId.get(command.operation)
    if (!o) throw new AppError('not_found', 'no such operation')
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
