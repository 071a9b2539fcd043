/** The program of the thread for texts, with failures on request: a text may name one. */
import { answerTextRequest } from '#port/texts/answer'
import type { TextRequest } from '#port/texts/texts'

declare const self: Worker

self.onmessage = ({ data }: MessageEvent<TextRequest>) => {
  const text = data.input[1]
  if (text === 'hang') for (;;);
  if (text === 'exit') process.exit(3)
  if (text === 'crash') throw new RangeError('out of luck')
  self.postMessage(answerTextRequest(data))
}
