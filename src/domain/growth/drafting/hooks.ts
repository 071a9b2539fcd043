/** The library of opening patterns: every draft carries the name of one, so that what each brings can be counted. */
import { pointHooks } from './hook-library-points.ts'
import { storyHooks } from './hook-library-stories.ts'

export interface HookPattern {
  name: string
  /** How it opens a post, in a sentence. */
  explanation: string
  /** What that looks like; nobody's words. */
  example: string
}

const library = { ...storyHooks, ...pointHooks } as const satisfies Record<string, HookPattern>

/** The name by which items, briefs and models call a pattern; it never changes. */
export type HookKey = keyof typeof library

/** In the order of the library, which only grows at its end. */
export const hookKeys = Object.keys(library) as HookKey[]

export const hookPattern = (key: HookKey): HookPattern => library[key]

/** What articles carry, and no post. */
export const ARTICLE_HOOK: HookKey = 'article'

export const postHooks: readonly HookKey[] = hookKeys.filter((key) => key !== ARTICLE_HOOK)

const slug = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')

const bySlug = new Map<string, HookKey>([
  ...postHooks.map((key) => [slug(library[key].name), key] as const),
  ...postHooks.map((key) => [key, key] as const),
])

/** The pattern of a post that a text names, by its key or its name, however it is written; undefined when there is none. */
export const hookNamed = (text: string): HookKey | undefined => bySlug.get(slug(text))
