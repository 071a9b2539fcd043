/** What approving the text as it is typed would say, asked 300 ms after the last key. */
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { type AnswerOf, mayCall } from '../../api/operations.ts'
import { callOperation } from '../../api/request.ts'
import { boot } from '../../boot.ts'
import type { DraftItem } from './item.ts'

const PAUSE_MS = 300
const LONGEST = 25_000

export type Preview = AnswerOf<'growth.items.preview'>['preview']

const usePaused = (text: string): string => {
  const [paused, setPaused] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return paused
}

/** Undefined until it is known for this very text. */
export const usePreview = (
  item: DraftItem,
  text: string,
  isEdited: boolean,
): Preview | undefined => {
  const paused = usePaused(text)
  const isAsked =
    isEdited &&
    paused === text &&
    text.length > 0 &&
    text.length <= LONGEST &&
    mayCall(boot.session.role, 'growth.items.preview')
  const { data } = useQuery({
    queryKey: ['growth.items.preview', item.id, item.revision, paused],
    queryFn: ({ signal }) =>
      callOperation(
        'growth.items.preview',
        {
          body: paused,
          kind: item.kind,
          item_id: item.id,
          ...(item.posting_account && { account: item.posting_account.id }),
        },
        { signal },
      ),
    enabled: isAsked,
    retry: false,
  })
  return isAsked ? data?.preview : undefined
}
