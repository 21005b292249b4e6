// Validates the bundle in a folder by the rules of the operator framework; one line of JSON for each of them that found something.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/validation"
)

func main() {
	folder, kubernetes := os.Args[1], os.Args[2]
	bundle, err := manifests.GetBundleFromDir(folder)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	objects := bundle.ObjectsToValidate()
	results := validation.AllValidators.Validate(objects...)
	results = append(results, validation.OperatorHubV2Validator.Validate(objects...)...)
	results = append(results, validation.StandardCapabilitiesValidator.Validate(objects...)...)
	results = append(results, validation.StandardCategoriesValidator.Validate(objects...)...)
	results = append(results, validation.GoodPracticesValidator.Validate(objects...)...)
	results = append(results, validation.AlphaDeprecatedAPIsValidator.Validate(append(objects, map[string]string{"k8s-version": kubernetes})...)...)
	for _, result := range results {
		text, err := json.Marshal(result)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		fmt.Println(string(text))
	}
}
