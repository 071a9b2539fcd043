/**
 * The program of the thread for texts. In the single binary it is beside `main.ts`
 * (src/scripts/build.ts).
 */
import { answerTextRequest } from './answer.ts'
import type { TextRequest } from './texts.ts'

declare const self: Worker

self.onmessage = ({ data }: MessageEvent<TextRequest>) => self.postMessage(answerTextRequest(data))
