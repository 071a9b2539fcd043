/**
 * The models of the suite: one that does what each task needs, one that makes its mistake, and one
 * that only says that it is done.
 */
import type { ThinkRequest } from '#port/model/thinker'
import type { ChatReply, ChatRequest } from '#test/support/model/fake-chat'
import { type ScriptedModel, scriptedModel } from '#test/support/model/scripted-model'
import type { Script, Task } from './task.ts'

/** The texts that the tools have given so far. */
const shownIn = ({ messages }: ThinkRequest): string =>
  messages.flatMap((message) => (message.role === 'tool' ? [message.text] : [])).join('\n')

/**
 * The handle of a kind that stands closest before a word of its record's text; of those as close,
 * the last.
 */
const handleOf = (kind: string, words: string, shown: string): string => {
  const found = [...shown.matchAll(new RegExp(`\\b${kind}:\\d+`, 'g'))].flatMap(
    ({ 0: handle, index }) => {
      const at = shown.indexOf(words, index)
      return at === -1 ? [] : [{ handle, distance: at - index }]
    },
  )
  if (found.length === 0) throw new Error(`no ${kind} with "${words}" was shown: ${shown}`)
  return found.reduce((best, one) => (one.distance <= best.distance ? one : best)).handle
}

const named = <T>(args: T, shown: string): T =>
  JSON.parse(
    JSON.stringify(args).replace(/<(\w+): ([^>]+)>/g, (_, kind: string, words: string) =>
      handleOf(kind, words, shown),
    ),
  )

/** Scripts by what is asked: of the tasks, of what went before them, and of sub-agents. */
const scriptsOf = (tasks: readonly Task[], of: 'script' | 'mistake'): Map<string, Script> =>
  new Map(
    tasks.flatMap((task) => [
      [task.ask, task[of]] as const,
      ...(task.before ?? []).map(({ ask, script = [] }) => [ask, script] as const),
      ...Object.entries(task.children ?? {}),
    ]),
  )

interface Heard {
  /** What the person, or the parent, asked last. */
  said: string
  /** How often the model has answered that. */
  answers: number
  shown: string
}

/** What the script says next. Throws for what no script answers. */
const nextOf = (
  scripts: Map<string, Script>,
  { said, answers, shown }: Heard,
): Script[number] | undefined => {
  const script = scripts.get(said)
  if (!script) throw new Error(`no script for "${said}"`)
  return script[answers]?.map(([name, args]) => [name, named(args, shown)])
}

const following = (tasks: readonly Task[], of: 'script' | 'mistake'): ScriptedModel => {
  const scripts = scriptsOf(tasks, of)
  return scriptedModel((turn, answers) => {
    const { text: said } = turn.messages.findLast(({ role }) => role === 'user') as { text: string }
    const calls = nextOf(scripts, { said, answers, shown: shownIn(turn) })
    return calls ? { calls } : { text: 'Done.' }
  })
}

/** The good model as a provider gives it over the wire. */
export const goodOnWire = (tasks: readonly Task[]): ((request: ChatRequest) => ChatReply) => {
  const scripts = scriptsOf(tasks, 'script')
  return ({ messages }) => {
    const last = messages.findLastIndex(({ role }) => role === 'user')
    const answers = messages.slice(last + 1).filter(({ role }) => role === 'assistant').length
    const shown = messages
      .flatMap(({ role, content }) => (role === 'tool' ? [content ?? ''] : []))
      .join('\n')
    const calls = nextOf(scripts, { said: messages[last]?.content ?? '', answers, shown })
    if (!calls) return { text: 'Done.' }
    return {
      calls: calls.map(([name, args], nth) => ({
        id: `c${answers}${nth}`,
        name,
        arguments: JSON.stringify(args),
      })),
    }
  }
}

export const models = {
  good: (tasks: readonly Task[]) => following(tasks, 'script'),
  mistaken: (tasks: readonly Task[]) => following(tasks, 'mistake'),
  idle: () => scriptedModel(() => ({ text: 'I have done all of it.' })),
}

/** What a desk would be that guesses: the first word that it knows decides. */
export const guessing = (): ScriptedModel =>
  scriptedModel(({ messages }, answers) => {
    const { text } = messages.findLast(({ role }) => role === 'user') as { text: string }
    if (answers > 0) return { text: 'Done.' }
    if (/approve/i.test(text)) return { calls: [['growth_approve_item', { id: 'item:1' }]] }
    if (/reject|delete|undo/i.test(text))
      return { calls: [['growth_reject_item', { id: 'item:1' }]] }
    if (/stop|pause/i.test(text)) return { calls: [['growth_pause_automation', {}]] }
    if (/remember/i.test(text)) return { calls: [['remember', { text }]] }
    return { calls: [['growth_list_queue', {}]] }
  })
