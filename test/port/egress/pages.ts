/** Pages that a receiver of the test answers with. */
import { afterEach } from 'bun:test'
import { type PageRequest, readPage, Unreadable } from '#port/egress/page'
import { EgressRefused } from '#port/egress/target'
import { egressTo } from '#test/support/http/egress'
import { openReceiver, type ReceiverAnswer } from '#test/support/http/receiver'
import { use } from '#test/support/use'

export const usePages = () => {
  const receiver = use(openReceiver)
  afterEach(() => receiver.requests.splice(0))
  const egress = () => egressTo(`http://127.0.0.1:${receiver.port}`)
  const page = (
    answer: ReceiverAnswer | typeof receiver.answer,
    more: Partial<PageRequest> = {},
  ) => {
    receiver.answer = answer
    return readPage(egress(), { url: receiver.url, most: 8_000, mayFollow: () => true, ...more })
  }
  return { receiver, egress, page }
}

export const typed = (
  type: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
): ReceiverAnswer => ({
  status: 200,
  headers: { 'content-type': type, ...headers },
  body,
})

export const failureOf = (reading: Promise<unknown>) =>
  reading.then(
    () => 'none',
    (cause) =>
      cause instanceof Unreadable || cause instanceof EgressRefused ? cause.message : cause.name,
  )
