/**
 * An answer, put together from the pieces in which it arrives. Servers differ, so every field is
 * checked.
 */
import type { Thought, ThoughtUsage } from '#domain/agent/job/answer'
import { randomBase62 } from '#kernel/ids'
import { ThinkError, type ThinkRequest, type ToolCall } from '../thinker.ts'

const answerLimits = {
  /** For text, arguments and reasoning together. */
  characters: 1_048_576,
  /** Calls beyond this are only counted, each as this many characters. */
  calls: 64,
  nameLength: 200,
  /** More than any context holds. A higher count is not believed. */
  tokens: 10_000_000,
} as const
const CALL_CHARACTERS = 16
const ID_LENGTH = 9

type Fields = Record<string, unknown>

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {}
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** A few servers send the content in parts. */
const contentOf = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : listOf(value)
        .map((part) => textOf(fieldsOf(part).text))
        .join('')

/** The text without what the database refuses. */
const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '')

/** The same for arguments. A NUL would make JSON unreadable, and so does its replacement. */
const storableArguments = (text: string): string => text.toWellFormed().replaceAll('\0', '\u0001')

const isFirstHalf = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff

/**
 * Passes text on as it arrives, but never half a character, because the next piece may have the
 * other half.
 */
const createText = (onText: (piece: string) => void) => {
  let whole = ''
  let half = ''
  const say = (piece: string) => {
    const text = storable(piece)
    if (text === '') return
    whole += text
    onText(text)
  }
  return {
    add(piece: string) {
      const all = half + piece
      const end = isFirstHalf(all.charCodeAt(all.length - 1)) ? all.length - 1 : all.length
      half = all.slice(end)
      say(all.slice(0, end))
    },
    end(): string {
      say(half)
      half = ''
      return whole
    },
  }
}

interface Slot {
  index: unknown
  /** The provider's id, which tells calls apart. */
  id: string
  name: string
  arguments: string
}

/** A few servers send an object instead of a text. */
const argumentsOf = (value: unknown): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : textOf(value)

/**
 * Whether a delta begins another call than `last`, which is the latest one with its index. Some
 * servers give all calls the index 0, or none. Then a call begins with a name and another id, or
 * with another name.
 */
const begins = (last: Slot | undefined, { id, name }: Pick<Slot, 'id' | 'name'>): boolean =>
  !last ||
  (name !== '' &&
    ((id !== '' && last.id !== '' && id !== last.id) || (last.name !== '' && name !== last.name)))

const createCalls = () => {
  const slots: Slot[] = []
  /** For each index, its last call that is not kept. */
  const beyond = new Map<unknown, Slot>()
  let [left, latest] = [0, undefined as Slot | undefined]
  const open = (slot: Slot): void => {
    latest = slot
    if (slots.length < answerLimits.calls) return void slots.push(slot)
    left++
    beyond.set(slot.index, slot)
  }
  return {
    /** Returns how many characters the delta added. */
    add(value: unknown): number {
      const delta = fieldsOf(value)
      const called = fieldsOf(delta.function)
      const [id, name, more] = [
        textOf(delta.id),
        textOf(called.name).slice(0, answerLimits.nameLength),
        argumentsOf(called.arguments),
      ]
      const { index } = delta
      const last =
        typeof index === 'number'
          ? (beyond.get(index) ?? slots.findLast((slot) => slot.index === index))
          : latest
      if (!last || begins(last, { id, name })) {
        open({ index, id, name, arguments: slots.length < answerLimits.calls ? more : '' })
        return CALL_CHARACTERS + name.length + more.length
      }
      last.name ||= name
      last.id ||= id
      if (slots.includes(last)) last.arguments += more
      return more.length
    },
    count: () => slots.length,
    left: () => left,
    calls: (): ToolCall[] =>
      slots.map((slot) => ({
        id: randomBase62(ID_LENGTH),
        name: storable(slot.name),
        arguments: storableArguments(slot.arguments),
      })),
  }
}

const isCount = (value: unknown, least: number): value is number =>
  Number.isSafeInteger(value) &&
  (value as number) >= least &&
  (value as number) <= answerLimits.tokens

/** Undefined unless both counts can be true. Servers that do not count say 0 or nothing. */
const usageOf = (value: unknown): ThoughtUsage | undefined => {
  const {
    prompt_tokens: input,
    completion_tokens: output,
    prompt_tokens_details: details,
  } = fieldsOf(value)
  if (!isCount(input, 1) || !isCount(output, 1)) return undefined
  const cached = fieldsOf(details).cached_tokens
  return {
    input_tokens: input,
    cached_tokens: isCount(cached, 0) && cached <= input ? cached : 0,
    output_tokens: output,
  }
}

const isModelName = (value: unknown): value is string =>
  typeof value === 'string' && /^[\x21-\x7e]{1,200}$/.test(value)

export interface Assembly {
  /** Takes in a chunk of a stream. Throws `ThinkError` if the answer has become too large. */
  take(chunk: unknown): void
  /** Whether part of the answer has arrived. */
  begun(): boolean
  /** Whether the server has said why the answer ended. After that, only the usage follows. */
  finished(): boolean
  thought(): Thought
}

export const createAssembly = (turn: ThinkRequest, onText: (piece: string) => void): Assembly => {
  const text = createText(onText)
  const calls = createCalls()
  let [characters, reasoning, finish, declined] = [0, '', '', false]
  let usage: ThoughtUsage | undefined
  let model: string | undefined
  const read = (delta: Fields) => {
    const [words, thinking] = [contentOf(delta.content), textOf(delta.reasoning_content)]
    characters += words.length + thinking.length
    for (const call of listOf(delta.tool_calls)) characters += calls.add(call)
    if (characters > answerLimits.characters) throw new ThinkError('too_large')
    text.add(words)
    reasoning += thinking
    declined ||= textOf(delta.refusal) !== ''
  }
  return {
    take(value) {
      const chunk = fieldsOf(value)
      const choice = fieldsOf(listOf(chunk.choices)[0])
      model ??= isModelName(chunk.model) ? chunk.model : undefined
      usage = usageOf(chunk.usage) ?? usage
      read(fieldsOf(choice.delta))
      finish = textOf(choice.finish_reason) || finish
      // Some routers end a stream this way when the model behind them has failed.
      if (finish === 'error') throw new ThinkError('broken')
    },
    begun: () => characters > 0 || calls.count() > 0,
    finished: () => finish !== '',
    thought: () => ({
      text: text.end(),
      calls: turn.choice === 'none' ? [] : calls.calls(),
      ...(turn.choice !== 'none' && calls.left() > 0 && { left: calls.left() }),
      ending:
        declined || finish === 'content_filter' ? 'refused' : finish === 'length' ? 'cut' : 'whole',
      usage,
      model: model ?? turn.model,
      ...(reasoning !== '' && { reasoning: storable(reasoning) }),
    }),
  }
}

/** A whole answer in the form of a stream's only chunk. */
export const asChunk = (answer: unknown) => {
  const { choices, ...rest } = fieldsOf(answer)
  const choice = fieldsOf(listOf(choices)[0])
  const message = fieldsOf(choice.message)
  const tool_calls = listOf(message.tool_calls).map((call, index) => ({ ...fieldsOf(call), index }))
  return {
    ...rest,
    choices: [{ finish_reason: choice.finish_reason, delta: { ...message, tool_calls } }],
  }
}
