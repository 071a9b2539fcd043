/**
 * Answers of operations in a form that suits the client: compressed, and left out if the client
 * already has the single record.
 */
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Answer } from '#actors/engine/letter'
import { type NamedOp, readsOneRecord } from '#contract/op'
import { encodingOf } from './encoding.ts'
import { answerResponse } from './respond.ts'
import { isCurrent } from './validators.ts'

/** In bytes. Compressing a smaller answer does not save a packet. */
const WORTH_COMPRESSING = 1_024
/** The next levels save a few per cent, but take several times as long. */
const LEVEL = 4

const compress = promisify(gzip)

/** The tag is weak, because it is the same for a record in any coding. */
const tagOf = (body: string): string =>
  `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`

/** The credential has been checked at this point, as for every answer. */
const currentOr = (request: Request, response: Response, body: string): Response => {
  const etag = tagOf(body)
  const headers = new Headers(response.headers)
  headers.set('etag', etag)
  // Access may have ended, so every use of a stored copy must ask again.
  headers.set('cache-control', 'private, no-cache')
  if (!isCurrent(request, etag)) return new Response(body, { status: response.status, headers })
  headers.delete('content-type')
  return new Response(null, { status: 304, headers })
}

/**
 * Answers with secrets are not compressed: a client could learn something about a secret by having
 * it compressed next to text of its own choice (BREACH).
 */
export const represent = async (
  o: NamedOp,
  request: Request,
  { answer, requestId }: { answer: Answer; requestId: string },
): Promise<Response> => {
  const plain = answerResponse(answer, requestId)
  const response =
    readsOneRecord(o) && answer.status === 200 ? currentOr(request, plain, answer.body) : plain
  if (o.secret || response.status === 304 || Buffer.byteLength(answer.body) <= WORTH_COMPRESSING)
    return response
  response.headers.append('vary', 'accept-encoding')
  if (encodingOf(request.headers.get('accept-encoding'), ['gzip']) !== 'gzip') return response
  response.headers.set('content-encoding', 'gzip')
  return new Response(await compress(answer.body, { level: LEVEL }), {
    status: response.status,
    headers: response.headers,
  })
}
