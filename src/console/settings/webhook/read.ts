/** The endpoint as it is at the server. Its address may hold a token, so that no cache keeps it. */
import { ApiError } from '../../api/errors.ts'
import type { AnswerOf } from '../../api/operations.ts'
import { queryClient, useRead } from '../../api/queries.ts'

export type Webhook = AnswerOf<'app.webhook.get'>['webhook']

export const useWebhook = () => {
  const read = useRead('app.webhook.get', {}, { forget: true })
  const isUnset = read.error instanceof ApiError && read.error.status === 404
  return { read, isUnset, webhook: isUnset ? undefined : read.data?.webhook }
}

/** Also what follows from it: the log. */
export const readWebhookAgain = (): Promise<void> =>
  queryClient.invalidateQueries({
    predicate: ({ queryKey: [id] }) => String(id).startsWith('app.webhook'),
  })
