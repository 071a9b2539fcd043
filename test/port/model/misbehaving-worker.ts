/** The worker's program, with failures on request: a seed may name one. */
import { answerRequest } from '#port/model/worker/answer'
import type { Request } from '#port/model/worker/messages'

declare const self: Worker

self.onmessage = ({ data }: MessageEvent<Request>) => {
  const { seed } = data.input.brief as { seed: string }
  if (seed === 'hang') for (;;);
  if (seed === 'exit') process.exit(3)
  if (seed === 'crash') throw new RangeError('out of luck')
  self.postMessage(answerRequest(data))
}
