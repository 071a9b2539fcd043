/**
 * The program of the thread for texts. The single binary has it beside `main.ts`
 * (src/scripts/build.ts).
 */
import { answerTextRequest } from './answer.ts'
import type { TextRequest } from './texts.ts'

declare const self: Worker

self.onmessage = ({ data }: MessageEvent<TextRequest>) => self.postMessage(answerTextRequest(data))
