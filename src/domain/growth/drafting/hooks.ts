/**
 * The library of openings. Every draft names the one it uses, so that results can be counted for
 * each.
 */
import { pointHooks } from './hook-library-points.ts'
import { storyHooks } from './hook-library-stories.ts'

export interface HookPattern {
  name: string
  /** How it opens a post, in one sentence. */
  explanation: string
  /** An invented example. */
  example: string
}

const library = { ...storyHooks, ...pointHooks } as const satisfies Record<string, HookPattern>

/** The key that items, briefs and models use. It never changes. */
export type HookKey = keyof typeof library

/** In library order. New patterns are appended. */
export const hookKeys = Object.keys(library) as HookKey[]

export const hookPattern = (key: HookKey): HookPattern => library[key]

/** For articles only. */
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

/**
 * The post opening named in `text`, by key or by name in any spelling; undefined if there is none.
 */
export const hookNamed = (text: string): HookKey | undefined => bySlug.get(slug(text))
