/** Notices when the stream of a response ends, whichever side ends it. */

/** The same response, whose stream begins at once. */
export const noticingEnd = ({ body, status, headers }: Response, ended: () => void): Response =>
  new Response(body && noticing(body, ended), { status, headers })

const noticing = (
  body: ReadableStream<Uint8Array>,
  ended: () => void,
): ReadableStream<Uint8Array> => {
  const reader = body.getReader()
  let open = true
  const end = () => {
    if (open) ended()
    open = false
  }
  return new ReadableStream({
    // Bun sends a response's headers with its first bytes. If there were none, the client would
    // wait for the headers until the first event.
    start: (controller) => controller.enqueue(new TextEncoder().encode(': open\n\n')),
    async pull(controller) {
      const { done, value } = await reader.read()
      if (!done) return controller.enqueue(value)
      end()
      controller.close()
    },
    async cancel(reason) {
      end()
      await reader.cancel(reason)
    },
  })
}
