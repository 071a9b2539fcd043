/** Headers of requests that are sent to others, whose names somebody has chosen. */

const NAME = /^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$/i

export const isHeaderName = (text: string): boolean => NAME.test(text)

/** Those that say where a request goes, or how its body is sent. */
const OF_THE_MESSAGE = new Set([
  'host',
  'content-length',
  'content-type',
  'connection',
  'transfer-encoding',
  'upgrade',
  'te',
  'trailer',
  'expect',
  'keep-alive',
])

/** Whether whoever sends a request sets it. */
export const isHeaderOfMessage = (name: string): boolean => OF_THE_MESSAGE.has(name.toLowerCase())
