import type { AnswerOf } from '../../api/operations.ts'

/** An item with its whole way. */
export type DraftItem = AnswerOf<'growth.items.get'>['item']

/** Its first line, to name it by. */
export const firstLineOf = ({ title, body }: Pick<DraftItem, 'title' | 'body'>): string =>
  title ?? body.split('\n', 1)[0] ?? ''
