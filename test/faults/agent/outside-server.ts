/** What the tool outside writes to: a server that notes each call, and takes a while. */

/** By this process's clock. */
export interface OutsideCall {
  text: string
  arrived: number
  /** When its answer was given. */
  over: number | undefined
}

export interface OutsideServer extends AsyncDisposable {
  url: string
  sent: OutsideCall[]
}

/** `lastsMs`: how long the next call takes. */
export const startOutside = (lastsMs: () => number): OutsideServer => {
  const sent: OutsideCall[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const call: OutsideCall = {
        text: await request.text(),
        arrived: performance.now(),
        over: undefined,
      }
      sent.push(call)
      await Bun.sleep(lastsMs())
      call.over = performance.now()
      return new Response()
    },
  })
  return {
    sent,
    url: `http://127.0.0.1:${server.port}`,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

/** Calls beyond the first with the same text. */
export const repeatsOf = (sent: readonly OutsideCall[]): number =>
  sent.length - new Set(sent.map(({ text }) => text)).size
