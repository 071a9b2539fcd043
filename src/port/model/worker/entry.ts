/**
 * The program of the worker thread. In the single binary it is beside `main.ts`
 * (src/scripts/build.ts).
 */
import { answerRequest } from './answer.ts'
import type { Request } from './messages.ts'

declare const self: Worker

self.onmessage = ({ data }: MessageEvent<Request>) => self.postMessage(answerRequest(data))
