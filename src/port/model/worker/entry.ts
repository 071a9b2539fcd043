/**
 * The program of the worker thread. The single binary has it beside `main.ts`
 * (src/scripts/build.ts).
 */
import { answerTo } from './answer.ts'
import type { Request } from './messages.ts'

declare const self: Worker

self.onmessage = ({ data }: MessageEvent<Request>) => self.postMessage(answerTo(data))
