/** A model provider that shows every possible behaviour, in an order that the seed determines. */
import { type ModelInput, validArticle } from '#test/support/model/fake-drafts'
import {
  type Behaviour,
  behaviours,
  createFakeOpenAi,
  type FakeOpenAi,
  type RecordedCall,
} from '#test/support/model/fake-openai'

export interface BadProvider extends AsyncDisposable {
  fake: FakeOpenAi
  /** How often each behaviour was shown. */
  shown: Map<string, number>
}

/** The shares of calls that are answered well, and of those with only some good drafts. */
const [WELL, PARTLY] = [0.4, 0.1]
const SYLLABLES = ['ba', 'de', 'fi', 'go', 'lu', 'ma', 'ne', 'pi', 'ro', 'su', 'ta', 've']

type Next = () => number
const among = <T>(all: readonly T[], next: Next): T => all[Math.floor(next() * all.length)]!

/** Made-up words, so that no two posts are alike, and none makes a claim. */
const sentence = (next: Next): string => {
  const word = () => Array.from({ length: 4 }, () => among(SYLLABLES, next)).join('')
  return Array.from({ length: 9 }, word).join(' ')
}

const draftsOf = ({ count, hooks }: ModelInput, body: (index: number) => string) => ({
  drafts: Array.from({ length: count }, (_, index) => {
    const hook = hooks[index % hooks.length]!.name
    return {
      body: body(index),
      format: 'note',
      hook,
      rationale: 'A thought that fits the voice.',
      stories: [],
      learnings: [],
    }
  }),
})

const TOO_LONG = 'too long '.repeat(90)

/** A good answer of the requested kind, or one with only some good parts, if it has parts. */
const answerTo = (
  next: Next,
  { body }: RecordedCall,
  wrong: (index: number) => boolean,
): Behaviour => {
  const { name } = body.response_format.json_schema
  const text = (index: number) => (wrong(index) ? TOO_LONG : sentence(next))
  if (name === 'drafts') return { write: (input) => draftsOf(input, text) }
  if (name === 'reply')
    return { write: () => ({ body: text(0), rationale: 'A thought that fits the voice.' }) }
  if (name === 'wordings')
    return {
      write: ({ sentences }) => ({
        sentences: sentences.map((one, at) => (wrong(at) ? text(at) : `So: ${one}`)),
      }),
    }
  return wrong(0) ? { write: (input) => ({ ...validArticle(input), title: TOO_LONG }) } : 'valid'
}

/** A good answer of the requested kind; no two have the same words. */
export const goodAnswer = (next: Next, call: RecordedCall): Behaviour =>
  answerTo(next, call, () => false)

const chosen = (next: Next, call: RecordedCall): [string, Behaviour] => {
  const draw = next()
  if (draw < WELL) return ['well', goodAnswer(next, call)]
  if (draw < WELL + PARTLY) return ['partly', answerTo(next, call, (index) => index % 2 === 0)]
  const name = among(behaviours, next)
  return [name, name]
}

/** `silentMs`: how long a silent connection stays open. */
export async function startBadProvider(next: Next, silentMs: number): Promise<BadProvider> {
  const fake = await createFakeOpenAi()
  const shown = new Map<string, number>()
  fake.breakAfter(silentMs)
  fake.otherwise((call) => {
    const [name, behaviour] = chosen(next, call)
    shown.set(name, (shown.get(name) ?? 0) + 1)
    return behaviour
  })
  return { fake, shown, [Symbol.asyncDispose]: () => fake[Symbol.asyncDispose]() }
}
