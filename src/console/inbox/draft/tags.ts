/** Tags as people add and remove them. */
import { tidyTags } from '#domain/growth/drafting/written-text'

/** Nothing changes if one differs from the new one by case alone. */
export const withTag = (tags: readonly string[], tag: string): string[] => tidyTags([...tags, tag])

export const withoutTag = (tags: readonly string[], tag: string): string[] =>
  tags.filter((one) => one !== tag)

/** The tags of these records that are not among `present`, the most frequent first. */
export const suggestedTags = (
  records: readonly { tags: readonly string[] }[],
  present: readonly string[],
): string[] => {
  const has = new Set(present.map((tag) => tag.toLowerCase()))
  const counts = new Map<string, number>()
  for (const tag of records.flatMap(({ tags }) => tags))
    if (!has.has(tag.toLowerCase())) counts.set(tag, (counts.get(tag) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a).map(([tag]) => tag)
}
