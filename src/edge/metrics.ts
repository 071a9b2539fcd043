/**
 * Who may read `/metrics`. On the main port, only who sends the token; on a port of its own,
 * whoever reaches it, unless there is a token.
 */
import { AppError } from '#kernel/errors'
import { isBearer } from './bearer.ts'
import { errorResponse, requestIdOf } from './respond.ts'
import type { Route } from './route.ts'

export const METRICS_PATH = '/metrics'

/** The page; undefined if it could not be made in time. */
export type MetricsPage = () => Promise<{ body: Blob; type: string } | undefined>

/** `token`: what has to be sent. Undefined: anybody may read. */
export const metricsResponse = async (
  request: Request,
  page: MetricsPage,
  token: string | undefined,
): Promise<Response> => {
  const refuse = (error: AppError) => errorResponse(error, requestIdOf(request))
  // What stands in a URL ends in the logs of proxies.
  if (new URL(request.url).search !== '')
    return refuse(
      new AppError('invalid_input', 'no query is taken: send the token as Authorization: Bearer'),
    )
  if (token !== undefined && !isBearer(request, token))
    return refuse(new AppError('unauthenticated', 'send METRICS_TOKEN as Authorization: Bearer'))
  const shown = await page()
  if (!shown) return refuse(new AppError('unavailable', 'the metrics could not be read in time'))
  return new Response(shown.body, {
    headers: { 'content-type': shown.type, 'cache-control': 'no-store' },
  })
}

/** For the main port, which always asks for the token. */
export const metricsRoutes = (page: MetricsPage, token: string): Route[] => [
  {
    method: 'GET',
    path: METRICS_PATH,
    respond: ({ request }) => metricsResponse(request, page, token),
  },
]
