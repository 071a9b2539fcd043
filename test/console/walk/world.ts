/** What all chapters of the walk share. */
import type { Reply, TestApp } from '#test/support/app'
import type { Receiver } from '#test/support/http/receiver'
import type { Binary } from './binary.ts'
import type { Desk } from './desk.ts'

/** What was pressed about a draft, and its text on the screen at that moment. */
export interface Pressed {
  how: 'slot' | 'no time' | 'rejected' | 'posted now'
  text: string
  /** The words of the button. */
  said?: string
}

export interface World {
  binary: Binary
  /** Sends with the key that the first start printed. */
  send: TestApp['send']
  complaints: string[]
  desk: Desk
  receiver: Receiver
  /** The variables that the model and the receiver need. */
  env: Record<string, string>
  /** By draft: the last thing pressed, unless it was taken back. */
  pressed: Map<string, Pressed>
  /** Texts that must be on the sandbox, each once. */
  posted: string[]
  log(line: string): void
}

export interface Person {
  email: string
  password: string
  name: string
}

export const olga: Person = {
  name: 'Olga Owner',
  email: 'olga@docks.example',
  password: 'seven grey herons at dawn',
}
export const lena: Person = {
  name: 'Lena Lead',
  email: 'lena@docks.example',
  password: 'eleven late trucks in may',
}

/** Throws unless the answer is a success. */
export const succeeded = async <B>(reply: Promise<Reply<B>>): Promise<B> => {
  const { status, body, text } = await reply
  if (status >= 300) throw new Error(`${status}: ${text}`)
  return body
}

export const requireThat = (is: boolean, what: string): void => {
  if (!is) throw new Error(`it is not so: ${what}`)
}
