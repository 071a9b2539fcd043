/** A server on loopback that gives a test's prepared answers in order. */

export interface Asked {
  method: string
  /** With its query. */
  path: string
  headers: Headers
  body: string
}

export interface Scripted {
  status?: number
  body?: unknown
  headers?: Record<string, string>
}

export interface ScriptedServer extends AsyncDisposable {
  url: string
  asked: Asked[]
}

/**
 * Each request takes the next answer, which may be a function of the request; the last answer
 * stays.
 */
export const scriptedServer = (
  script: readonly Scripted[] | ((asked: Asked, index: number) => Scripted),
): ScriptedServer => {
  const asked: Asked[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const url = new URL(request.url)
      const one: Asked = {
        method: request.method,
        path: url.pathname + url.search,
        headers: request.headers,
        body: await request.text(),
      }
      asked.push(one)
      const index = asked.length - 1
      const answer =
        typeof script === 'function' ? script(one, index) : (script[index] ?? script.at(-1)!)
      const body = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body ?? {})
      return new Response(body, {
        status: answer.status ?? 200,
        headers: { 'content-type': 'application/json', ...answer.headers },
      })
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    asked,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

/** An error in the server's format. */
export const refusal = (
  status: number,
  code: string,
  more: { message?: string; details?: unknown; headers?: Record<string, string> } = {},
): Scripted => ({
  status,
  headers: more.headers,
  body: {
    error: {
      code,
      message: more.message ?? code,
      ...(more.details ? { details: more.details } : {}),
      request_id: 'r-1',
    },
  },
})
