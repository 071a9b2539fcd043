/** The endpoint as it is at the server. Its address may hold a token, so that no cache keeps it. */
import { useQuery } from '@tanstack/react-query'
import type { AnswerOf } from '../../api/operations.ts'
import { queryClient, readKey } from '../../api/queries.ts'
import { callOperation } from '../../api/request.ts'

export type Webhook = AnswerOf<'app.webhook.get'>['webhook']

const GET = 'app.webhook.get'

/** Null if none is set: its own read would then be refused, so that the log is asked first. */
const readWebhook = async (signal: AbortSignal): Promise<Webhook | null> => {
  const { endpoint } = await callOperation('app.webhook.events', { limit: 1 }, { signal })
  return endpoint === null ? null : (await callOperation(GET, {}, { signal })).webhook
}

export const useWebhook = () => {
  const read = useQuery({
    queryKey: readKey(GET, {}),
    queryFn: ({ signal }) => readWebhook(signal),
    gcTime: 0,
  })
  return { read, isUnset: read.data === null, webhook: read.data ?? undefined }
}

/** Also what follows from it: the log. */
export const readWebhookAgain = (): Promise<void> =>
  queryClient.invalidateQueries({
    predicate: ({ queryKey: [id] }) => String(id).startsWith('app.webhook'),
  })
