/** If-None-Match (RFC 9110, 13.1.2). */

const tagsIn = (header: string | null): string[] =>
  (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))

/** Whether the client already has what this entity tag names, by the weak comparison. */
export const isCurrent = ({ headers }: Pick<Request, 'headers'>, etag: string): boolean => {
  const tags = tagsIn(headers.get('if-none-match'))
  return tags.includes(etag.replace(/^W\//, '')) || tags.includes('*')
}
