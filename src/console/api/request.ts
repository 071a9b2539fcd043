/** Calls of operations, each in the workspace that this tab shows. */
import { WORKSPACE_HEADER } from '#contract/headers'
import { boot } from '../boot.ts'
import { ApiError, type Refusal, Unreachable } from './errors.ts'
import { type AnswerOf, type InputOf, type OperationId, requestOf } from './operations.ts'
import { elsewhere, leaveToSignIn, renewSession, whileLeaving } from './session.ts'

/** The server answers what it waits for within 20 s. */
const DEADLINE_MS = 40_000

export interface CallOptions {
  signal?: AbortSignal | undefined
  /** The same for each try of one decision, which then happens once. */
  idempotencyKey?: string | undefined
}

const refusalOf = async (response: Response): Promise<Refusal> => {
  try {
    return ((await response.json()) as { error: Refusal }).error
  } catch {
    return { code: 'unreadable', message: `the server answered ${response.status}` }
  }
}

const errorOf = async (response: Response): Promise<ApiError> => {
  const wait = Number(response.headers.get('retry-after'))
  const refusal = await refusalOf(response)
  return new ApiError(response.status, refusal, wait > 0 ? wait : undefined)
}

const send = async (url: string, init: RequestInit, signal?: AbortSignal): Promise<Response> => {
  const deadline = AbortSignal.timeout(DEADLINE_MS)
  try {
    return await fetch(url, {
      ...init,
      signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
    })
  } catch (cause) {
    if (signal?.aborted) throw cause
    throw new Unreachable('no answer', { cause })
  }
}

/** A session can be moved or ended wherever it is by now: no workspace is meant. */
const OF_SESSION = 'app.session.'

const headersOf = (
  id: OperationId,
  hasBody: boolean,
  key: string | undefined,
): Record<string, string> => ({
  accept: 'application/json',
  ...(!id.startsWith(OF_SESSION) && { [WORKSPACE_HEADER]: boot.session.workspace.id }),
  ...(hasBody && { 'content-type': 'application/json' }),
  ...(key !== undefined && { 'idempotency-key': key }),
})

/** Rejects with `ApiError` or `Unreachable`. An ended session leads to the sign-in page. */
export const callOperation = async <Id extends OperationId>(
  id: Id,
  input: InputOf<Id>,
  { signal, idempotencyKey }: CallOptions = {},
): Promise<AnswerOf<Id>> => {
  const { method, url, body } = requestOf(id, input as Record<string, unknown>)
  const init = {
    method,
    headers: headersOf(id, body !== undefined, idempotencyKey),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }
  if (method === 'GET') await whileLeaving()
  const begun = Date.now()
  let response = await send(url, init, signal)
  if (response.status === 401) {
    const renewal = await renewSession(begun)
    if (renewal === 'unknown') throw new Unreachable('the session could not be renewed')
    if (renewal === 'renewed') response = await send(url, init, signal)
    if (response.status === 401) leaveToSignIn()
  }
  if (response.ok) return (await response.json()) as AnswerOf<Id>
  const error = await errorOf(response)
  if (error.reason === 'other_workspace') elsewhere.set({ name: undefined })
  throw error
}
