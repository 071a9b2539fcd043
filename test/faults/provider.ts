/** A model provider that does everything a provider can do, in the order that a seed gives. */
import { type Behaviour, behaviours, createFakeOpenAi, type FakeOpenAi, type ModelInput } from '#test/support/fake-openai'

export interface BadProvider extends AsyncDisposable {
  fake: FakeOpenAi
  /** How often each behaviour was shown. */
  shown: Map<string, number>
}

/** Of all calls, those that are answered well, and those of whose drafts only some are good. */
const [WELL, PARTLY] = [0.4, 0.1]
const SYLLABLES = ['ba', 'de', 'fi', 'go', 'lu', 'ma', 'ne', 'pi', 'ro', 'su', 'ta', 've']

type Next = () => number
const among = <T>(all: readonly T[], next: Next): T => all[Math.floor(next() * all.length)]!

/** Made-up words, so that no two posts resemble each other, and none claims anything. */
const sentence = (next: Next): string => {
  const word = () => Array.from({ length: 4 }, () => among(SYLLABLES, next)).join('')
  return Array.from({ length: 9 }, word).join(' ')
}

const draftsOf = ({ count, hooks }: ModelInput, body: (index: number) => string) => ({
  drafts: Array.from({ length: count }, (_, index) => {
    const hook = hooks[index % hooks.length]!.name
    return { body: body(index), format: 'note', hook, rationale: 'A thought that fits the voice.', stories: [], learnings: [] }
  }),
})

const chosen = (next: Next): [string, Behaviour] => {
  const draw = next()
  if (draw < WELL) return ['well', { write: (input) => draftsOf(input, () => sentence(next)) }]
  if (draw < WELL + PARTLY)
    return ['partly', { write: (input) => draftsOf(input, (index) => (index % 2 === 0 ? sentence(next) : 'too long '.repeat(90))) }]
  const name = among(behaviours, next)
  return [name, name]
}

/** `silentMs`: how long a connection on which nothing comes stays open. */
export async function startBadProvider(next: Next, silentMs: number): Promise<BadProvider> {
  const fake = await createFakeOpenAi()
  const shown = new Map<string, number>()
  fake.breakAfter(silentMs)
  fake.otherwise(() => {
    const [name, behaviour] = chosen(next)
    shown.set(name, (shown.get(name) ?? 0) + 1)
    return behaviour
  })
  return { fake, shown, [Symbol.asyncDispose]: () => fake[Symbol.asyncDispose]() }
}
