// node hf_ids.js < {"tokenizers": {pre: tokenizer.json}, "texts": [...]} > {pre: [[id...]...]}
// Needs `npm install tokenizers@0.23.2`.
const { Tokenizer } = require('tokenizers')

async function main () {
  const chunks = []
  for await (const chunk of process.stdin) chunks.push(chunk)
  const { tokenizers, texts } = JSON.parse(Buffer.concat(chunks).toString())
  const result = {}
  for (const [pre, spec] of Object.entries(tokenizers)) {
    const tokenizer = Tokenizer.fromString(JSON.stringify(spec))
    result[pre] = []
    for (const text of texts) {
      const encoded = await tokenizer.encode(text, null, { addSpecialTokens: false })
      result[pre].push(encoded.getIds())
    }
  }
  process.stdout.write(JSON.stringify(result))
}

main()
