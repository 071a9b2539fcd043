/** What Twilio's answers mean for one of our messages. */
import { answerObject, isSuccess, type ProviderAnswer, waitOf } from '../answers.ts'
import type { SendResult } from '../channel.ts'

/**
 * Codes by which Twilio says what a person has to correct before anything can be sent from this
 * number.
 */
const OF_CONNECTION: Readonly<Record<number, string>> = {
  20003: 'Twilio does not accept accountSid and authToken',
  20005: 'the Twilio account is not active',
  20404: 'Twilio knows no such account',
  21212: 'Twilio does not accept the number to send from',
  21603: 'Twilio has no number to send from',
  21606: 'the number cannot send SMS, or is not of this account',
  21660: 'the number is not of this Twilio account',
  21661: 'the number cannot send SMS',
  30002: 'the Twilio account is suspended',
  30034: 'the number is not registered for messages to the United States (A2P 10DLC)',
}

/** Codes which say why this particular message cannot be delivered. */
const OF_MESSAGE: Readonly<Record<number, string>> = {
  21211: 'the number of the recipient is not valid',
  21408: 'messages to this country are not switched on in Twilio',
  21602: 'the message has no text',
  21608: 'a trial account of Twilio sends to verified numbers alone',
  21610: 'the recipient has opted out (STOP); START opts in again',
  21612: 'Twilio cannot send from this number to this recipient',
  21614: 'the number of the recipient cannot receive SMS',
  21617: 'the message is too long',
  30003: 'the phone of the recipient cannot be reached',
  30004: 'the recipient blocks messages',
  30005: 'the number of the recipient is not known to its network',
  30006: 'the number of the recipient is a landline, or its network takes no SMS',
  30007: 'the message was filtered as unwanted',
  30008: 'the network of the recipient did not take the message',
}

/** Codes which say that nothing was sent and that it can be tried again. */
const BUSY: ReadonlySet<number> = new Set([20429, 14107, 21611, 30001, 30022, 63038])

const codeOf = (answer: ProviderAnswer): number => {
  const code = answerObject(answer)?.code
  return typeof code === 'number' ? code : 0
}

const nameError = (text: string, code: number): string => `${text} (Twilio's error ${code})`

/** What a person has to correct; undefined if that is not the problem. */
export const connectionError = (answer: ProviderAnswer): string | undefined => {
  const code = codeOf(answer)
  const known = OF_CONNECTION[code]
  if (known !== undefined) return nameError(known, code)
  return OF_MESSAGE[code] === undefined && [401, 403].includes(answer.status)
    ? `${OF_CONNECTION[20003]} (HTTP ${answer.status})`
    : undefined
}

const refusalOf = (answer: ProviderAnswer): SendResult => {
  const code = codeOf(answer)
  const ofConnection = connectionError(answer)
  if (ofConnection !== undefined) return { kind: 'refused', error: ofConnection, of: 'connection' }
  const known = OF_MESSAGE[code]
  const error =
    known === undefined
      ? `Twilio refused the message: HTTP ${answer.status}, error ${code}`
      : nameError(known, code)
  return { kind: 'refused', error, of: 'message' }
}

export const sentOf = (answer: ProviderAnswer): SendResult => {
  if (isSuccess(answer)) {
    const sid = answerObject(answer)?.sid
    return { kind: 'sent', externalId: typeof sid === 'string' ? sid.slice(0, 100) : null }
  }
  if (answer.status === 429 || BUSY.has(codeOf(answer)))
    return {
      kind: 'unsent',
      error: 'Twilio takes no more messages at the moment',
      ...waitOf(answer),
    }
  if (answer.status >= 400 && answer.status < 500) return refusalOf(answer)
  return { kind: 'unknown', error: `Twilio answered with HTTP ${answer.status}` }
}
