/**
 * Answers in place of a model. It runs exact commands and a few fixed questions, and shows what
 * they return. For any other question, it quotes what the workspace's own texts say. It never
 * guesses.
 */
import type { Thought } from '#domain/agent/job/answer'
import type { QuotedPassage } from '#domain/agent/knowledge/quoting'
import type { Thinker, ThinkOptions, ThinkRequest, ToolCall, TurnMessage } from '../thinker.ts'
import { isForDesk, type Parse, understand } from './command.ts'
import { describeResult } from './plain-text.ts'
import { questionIn } from './questions.ts'

const DESK = 'desk'

interface DeskOptions {
  parse: Parse
  /** Commands similar to what a text says, to be shown but never run. */
  nearest(text: string): string[]
}

const FREE = { input_tokens: 0, cached_tokens: 0, output_tokens: 0 }

const makeThought = (text: string, calls: ToolCall[] = []): Thought => ({
  text,
  calls,
  ending: 'whole',
  usage: FREE,
  model: DESK,
})

/** Nine letters and digits, which differ in each answer of a turn. */
const callId = ({ messages }: ThinkRequest): string =>
  `desk${String(messages.length % 100_000).padStart(5, '0')}`

const callOf = (turn: ThinkRequest, tool: string, args: Record<string, unknown>): Thought =>
  makeThought('', [{ id: callId(turn), name: tool, arguments: JSON.stringify(args) }])

/** What the tools returned since the last answer. */
const resultsIn = (messages: readonly TurnMessage[]): string[] => {
  const last = messages.findLastIndex(({ role }) => role !== 'tool')
  return messages
    .slice(last + 1)
    .flatMap((message) => (message.role === 'tool' ? [message.text] : []))
}

const shownIn = (messages: readonly TurnMessage[]): string[] =>
  messages.flatMap((message) =>
    message.role === 'assistant' && message.text !== '' ? [describeResult(message.text)] : [],
  )

const atALoss = (text: string, { nearest }: DeskOptions): string =>
  [
    'No model is set (OPENAI_API_KEY). I can run commands; nearest to what you wrote:',
    ...nearest(text).map((command) => `  ${command}`),
    'Or ask "what next?". /help lists all commands.',
  ].join('\n')

/** Each line is marked, so that nothing in it can look like part of the answer. */
const quoteLines = ({ text, source, untrusted }: QuotedPassage): string =>
  `${text.replaceAll(/^/gm, '> ')}\n(${source}${untrusted ? '; people outside the workspace may have written this' : ''})`

const quoting = (quotations: readonly QuotedPassage[]): string[] =>
  quotations.length === 0
    ? []
    : ['I have no language model; this is what your documents say:', ...quotations.map(quoteLines)]

/** The answer to people outside, who know nothing about commands and models. */
const NO_ANSWER = 'I have no answer to this. Somebody who can answer has to read it.'

const answerToStranger = async (text: string, { search }: ThinkOptions): Promise<Thought> => {
  const quotations = (await search?.(text)) ?? []
  return makeThought(
    quotations.length === 0
      ? NO_ANSWER
      : [
          'This may answer it:',
          ...quotations.map((one) => quoteLines({ ...one, untrusted: false })),
        ].join('\n\n'),
  )
}

const answerTo = async (
  text: string,
  turn: ThinkRequest,
  { search }: ThinkOptions,
  options: DeskOptions,
): Promise<Thought> => {
  const command = await understand(text, options.parse, shownIn(turn.messages))
  if (command && 'error' in command) return makeThought(command.error)
  const question = command ? undefined : questionIn(text)
  const call = command ?? (question && { tool: question.tool, args: question.args ?? {} })
  if (!call)
    return makeThought(
      [...quoting((await search?.(text)) ?? []), atALoss(text, options)].join('\n\n'),
    )
  return turn.choice === 'none'
    ? makeThought(`No tool may be called any more in this job, so ${call.tool} was not.`)
    : callOf(turn, call.tool, call.args)
}

const answer = async (
  turn: ThinkRequest,
  thinking: ThinkOptions,
  options: DeskOptions,
): Promise<Thought> => {
  const last = turn.messages.at(-1)
  if (last?.role === 'user' && thinking.asksFromOutside !== undefined)
    return answerToStranger(thinking.asksFromOutside, thinking)
  if (last?.role === 'user') return answerTo(last.text, turn, thinking, options)
  return makeThought(resultsIn(turn.messages).map(describeResult).join('\n\n') || 'Done.')
}

export interface Desk extends Thinker {
  /** Whether a person's words are a command, which needs no model. */
  takes(text: string): Promise<boolean>
}

export const createDesk = (options: DeskOptions): Desk => ({
  takes: (text) => isForDesk(text, options.parse),

  async think(turn: ThinkRequest, thinking: ThinkOptions): Promise<Thought> {
    const { signal, onText } = thinking
    signal.throwIfAborted()
    const given = await answer(turn, thinking, options)
    signal.throwIfAborted()
    if (given.text !== '') onText(given.text)
    return given
  },
})
