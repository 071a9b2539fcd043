import { KEY_LIMIT } from '#contract/op'

/** What a reader of the OpenAPI document needs to know once, for all operations. Markdown. */
export const guide = `Drafts posts from a growth profile, keeps each behind human approval, and posts each exactly once.

**A first round**

\`\`\`sh
api() { curl -sS -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' "$@"; }
api -X PUT  $URL/api/v1/growth/profile -d '{"goal": "Book demos", "writing_dna": {"proof": ["Cut late deliveries by 31%"]}}'
api -X POST $URL/api/v1/growth/batches -d '{"count": 3, "focus": "late deliveries"}'
api $URL/api/v1/growth/batches/$BATCH            # until its status is ready
api -X POST $URL/api/v1/growth/items/$ITEM/approve -d '{}'
api -X POST $URL/api/v1/growth/items/$ITEM/post-now -H "Idempotency-Key: $(uuidgen)"
\`\`\`

**Authentication.** An API key as Bearer credential. Each operation names the scope that its key needs: \`api:read\` for GET, \`api:write\` for the rest. A key that a member made may no more than the member.

**People** sign in by \`POST /api/v1/app/session\`: browsers get HttpOnly cookies, programs ask for tokens with \`"delivery": "body"\` and send the access token as Bearer. What stands under \`/api/v1/app\` is theirs alone. A refresh token is good once; used a second time, it ends the session. Each operation asks for a role, else 403 \`forbidden\`: owners may everything, everybody reads.

**Bodies** are JSON objects of at most 1 MiB, sent as \`application/json\`; where no credential is asked for, of at most 16 KiB. A larger one is 413 before it is read, one that takes longer than 60 seconds to arrive is 408. While too many bodies are under way, a request waits up to 5 seconds and is then 503. A field that the operation does not know is an error, which names the nearest one that it does.

**Errors** have one form, \`{"error": {"code", "message", "details"?, "request_id"}}\`. Go by \`code\`. 429 and 503 say in \`Retry-After\` when to try again.

**Retries.** Send an \`Idempotency-Key\` (1 to ${KEY_LIMIT} characters) with every command. The same key with the same request replays the stored answer for 24 hours, marked \`Idempotency-Replayed: true\`; only answers that succeeded are stored. While the first request runs, the second is 409 \`idempotency_in_flight\`; with another request, the key is 422 \`idempotency_key_reused\`. Where the answers of a workspace take 256 MiB, new commands with a key are 429 \`rate_limited:idempotency\` until the oldest expire; pausing, disconnecting and posting now never are.

**Lists** are read with \`limit\` and \`cursor\`: give \`next_cursor\` as \`cursor\` until it is null.

**Generation** runs on after its answer: poll the record about every 20 seconds until its \`status\` is \`ready\` or \`failed\`; typically 1 to 3 minutes.

**Plans.** What costs is refused with 403 where billing is in the way (\`plan_invalid:<reason>\`), the plan is without the feature (\`plan_feature_disabled:<feature>\`) or the quota of the month, by UTC, is used up (\`plan_quota_exceeded:<key>\`), and with 429 \`rate_limited:<action>\` at the cap of the hour. Reads stay open. Where an operation has a cap or a quota, every answer that got as far as them says in \`RateLimit-Policy\` and \`RateLimit\` how far they go; a replay too, which takes nothing. What a generation does not deliver goes back to its month. A scheduled post that falls due while billing is in the way is not sent: it comes back approved and unscheduled, with the reason in \`last_error\`, and is scheduled again by a person. Reads of the network have a budget of their own by the day, by UTC; a tenth of it is kept for finding out what became of a post, which is never refused. A post that is read twice in a day is counted twice.

**Rates.** A plan also says how many requests a second a workspace may send to each process, and how many of them may be commands, which change something: \`team\` 1,000 with a burst of 10,000, and 300 with a burst of 5,000; \`creator\` a third of that, \`free\` a tenth. Beyond them the answer is 429 \`rate_limited:requests\` or \`rate_limited:commands\`. Each message over MCP is a request. Pausing all automation and disconnecting an account are never refused. Without a valid credential an address has 100 requests a second with a burst of 1,000, then 429 \`rate_limited:address\`.

**Webhooks.** Each event is a POST of \`{"id", "type", "created_at", "workspace_id", "data"}\` to the workspace's endpoint, which an owner sets by \`PUT /api/v1/app/webhook\`, signed as Standard Webhooks 1.0 asks: \`webhook-signature\`, and \`X-Webhook-Signature\` with the same value, is \`v1,\` and the base64 of HMAC-SHA256 over \`{webhook-id}.{webhook-timestamp}.{body}\`; several, separated by blanks, while the secret changes. The key is what follows \`whsec_\` in the secret, decoded from base64. An event comes at least once, in order within its item or batch, always under the same \`webhook-id\`: answer 2xx within 15 seconds, and drop what you have seen. Anything else is tried again after 5 seconds, 5 and 30 minutes, 2, 5, 10 and 10 hours; 429 and 503 may ask for more in \`Retry-After\`; 410 ends it. Pausing automation does not pause events.`
